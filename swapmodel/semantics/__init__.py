"""
What every operation does, phase by phase.

Reading order: spec, ownership, places, payloads, tensors, weakrefs, modules,
autograd_meta, forward, methods, backward, swap, set_data, functions, choose,
convert_gradient, convert_rnn, convert, deepcopy, step
"""
