"""Models that remember: weights once, and any number of caches that extend and rewind."""

from specdec_lab.models.base import Cached, Model, Rows
from specdec_lab.models.reference import ReferenceModel

__all__ = ["Cached", "Model", "ReferenceModel", "Rows"]
