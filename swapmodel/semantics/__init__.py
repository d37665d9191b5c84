"""
What every operation does, phase by phase.

Reading order: spec, ownership, cycles, places, payloads, broadcast, tensors, writes,
autograd_meta, edges, weakrefs, modules, hooks, forward, methods, nodes, backward,
guards, swap, set_data, functions, promised, apply_fn, choose, convert_gradient,
convert_rnn, convert, deepcopy, optimizer_state, adam, param_groups, optimize,
torch_names, taken, step
"""
