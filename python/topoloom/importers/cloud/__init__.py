# SPDX-License-Identifier: BSD-3-Clause
"""Importers for GPU servers, cloud instances and Kubernetes."""
