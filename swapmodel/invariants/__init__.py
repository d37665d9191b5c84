"""
What must hold across a conversion, a swap or `.data =`?

Reading order: violation, of_heaps, of_structure, of_modules, of_weakrefs, of_steps,
probes, of_gradients, of_memory, of_runs, catalogue
"""
