"""
Does real torch do what the model says?

Reading order: survey, holders, observation, differences, predicted, recording, replay,
abilities, keepers, elements, optimizers, look, sources, perform, world, lockstep,
undefined, drawing, starts, starts_of_swaps, starts_of_classes, starts_of_conversions,
starts_of_functions, about_modules, starts_of_modules, starts_of_weakrefs,
starts_of_graphs, starts_of_optimizers, starts_at_random, programs, areas, conform,
confirm, plan, record
"""
