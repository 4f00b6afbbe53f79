"""The vocabulary of the graph as data: relations with the phrases that say them, job titles, forms of verbs.

Statements (by `memory-plane-local`) and questions (by `ask`) are read by the same tables.
"""
