"""
Everything a heap is made of.

Reading order: record, ids, classes, tensors, autograd, keepers,
weakrefs, holders, events, heap, draft, build
"""
