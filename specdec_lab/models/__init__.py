"""Models that remember: weights once, and any number of caches that extend and rewind."""

from specdec_lab.models.base import Cached, Model, Rows
from specdec_lab.models.fast import FastModel
from specdec_lab.models.reference import ReferenceModel

__all__ = ["Cached", "FastModel", "Model", "ReferenceModel", "Rows"]
