"""
What every operation does, phase by phase.

Reading order: spec, ownership, places, payloads, tensors, autograd, swap,
set_data, functions, convert, step
"""
