"""
Everything a heap is made of.

Reading order: record, ids, dtypes, classes, tensors, autograd, keepers,
weakrefs, optimizers, holders, events, heap, draft, build
"""
