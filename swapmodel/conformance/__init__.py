"""
Does real torch do what the model says?

Reading order: survey, holders, observation, differences, keepers, look, sources,
perform, world, lockstep, undefined, programs, starts, starts_of_classes,
starts_of_conversions, about_modules, starts_of_modules, starts_of_weakrefs,
starts_of_graphs, starts_of_optimizers, areas, conform, confirm
"""
