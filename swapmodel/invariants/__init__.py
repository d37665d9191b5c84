"""
What must hold across a conversion, a swap or a load?

Reading order: violation, of_heaps, of_modules, of_steps, probes, of_gradients, of_runs, catalogue
"""
