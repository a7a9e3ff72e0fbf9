# SPDX-License-Identifier: BSD-3-Clause
from topoloom.figure.allocation import draw_allocation as draw_allocation
from topoloom.figure.comparison import draw_comparison as draw_comparison
from topoloom.figure.judgement import draw_judgement as draw_judgement
from topoloom.figure.machine import draw_machine as draw_machine
from topoloom.figure.matrix import draw_graph as draw_graph
from topoloom.figure.model import draw_model as draw_model
from topoloom.figure.packet_latency import draw_loads as draw_loads
from topoloom.figure.plan import draw_plan as draw_plan
from topoloom.figure.timeline import draw_timeline as draw_timeline
