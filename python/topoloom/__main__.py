# SPDX-License-Identifier: BSD-3-Clause
"""``python -m topoloom`` is the command `topoloom`."""

from topoloom.cli import main

if __name__ == "__main__":
    main()
