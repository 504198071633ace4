"""Simulations: what the statistics promise, measured."""
