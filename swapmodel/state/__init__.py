"""
Everything a heap is made of.

Reading order: record, ids, classes, tensors, autograd, weakrefs,
holders, events, heap, draft, build
"""
