"""Optimisers to compare with, behind the interface of :class:`boring.Optimizer`.

Importing the package registers their names for ``boring.minimize(..., method=...)``; the modules
load on first use.
"""

from __future__ import annotations

from boring.registry import register_optimizer

__all__ = ["DISTRIBUTION"]

DISTRIBUTION = "boring-bo"
"""The distribution that owns this package: other distributions use its import name too."""

_OPTIMIZERS = {
    "random": "baselines.search.random_search:RandomSearchOptimizer",
    "sobol": "baselines.search.sobol_search:SobolSearchOptimizer",
    "rembo": "baselines.embeddings.rembo:RemboOptimizer",
    "gp": "baselines.gaussian_process.plain_gp:PlainGPOptimizer",
    "rembo-reverse": "baselines.embeddings.reverse_rembo:ReverseRemboOptimizer",
    "hesbo": "baselines.embeddings.hesbo:HesboOptimizer",
    "alebo": "baselines.embeddings.alebo:AleboOptimizer",
    "line-bo": "baselines.restricted.line_bo:LineBOOptimizer",
    "dropout": "baselines.restricted.dropout:DropoutOptimizer",
    "elastic-gp": "baselines.gaussian_process.elastic_gp:ElasticGPOptimizer",
    "tripathy": "baselines.subspace.tripathy:TripathyOptimizer",
    "active-embedding": "baselines.subspace.active_embedding:ActiveEmbeddingOptimizer",
    "si-bo": "baselines.subspace.si_bo:SiBoOptimizer",
    "coordinate-differences": (
        "baselines.subspace.coordinate_differences:CoordinateDifferencesOptimizer"
    ),
    "add-gp-ucb": "baselines.additive.add_gp_ucb:AddGpUcbOptimizer",
    "partition-sampling": "baselines.additive.partition_sampling:PartitionSamplingOptimizer",
    "structural-kernel": "baselines.additive.structural_kernel_learning:StructuralKernelOptimizer",
    "overlapping-groups": "baselines.additive.overlapping_groups:OverlappingGroupsOptimizer",
    "random-projections": "baselines.additive.random_projections:RandomProjectionsOptimizer",
    "additive-stiefel": "baselines.additive.additive_stiefel:AdditiveStiefelOptimizer",
    "bore-mlp": "baselines.density_ratio.bore_mlp:BoreMlpOptimizer",
    "bore-forest": "baselines.density_ratio.bore_forest:BoreForestOptimizer",
    "bore-trees": "baselines.density_ratio.bore_trees:BoreTreesOptimizer",
    "bore-svm": "baselines.density_ratio.bore_svm:BoreSvmOptimizer",
    "tpe": "baselines.density_ratio.tpe:TpeOptimizer",
    "kde-ratio": "baselines.density_ratio.kde_ratio:KdeRatioOptimizer",
    "boggn": "baselines.density_ratio.boggn:BoggnOptimizer",
    "goal-seeking": "baselines.goal_seeking.goal_ladder:GoalSeekingOptimizer",
    "elm": "baselines.random_features.elm:ElmOptimizer",
    "rvfl-bayesian": "baselines.random_features.bayesian_rvfl:BayesianRvflOptimizer",
    "rvfl-ensemble": "baselines.random_features.ensemble_rvfl:EnsembleRvflOptimizer",
    "kde": "baselines.mixtures.kde:KdeOptimizer",
    "gmr": "baselines.mixtures.gmr:GmrOptimizer",
    "conditional-map": "baselines.goal_seeking.conditional_map:ConditionalMapOptimizer",
    "spn": "baselines.mixtures.spn:SpnOptimizer",
    "bnn-hmc": "baselines.neural.bnn_hmc:BnnHmcOptimizer",
    "bnn-nuts": "baselines.neural.bnn_nuts:BnnNutsOptimizer",
    "bohamiann": "baselines.neural.bohamiann:BohamiannOptimizer",
    "bnn-vi": "baselines.neural.bnn_vi:BnnViOptimizer",
    "ivbnn": "baselines.neural.implicit.ivbnn:IvbnnOptimizer",
}

for _name, _target in _OPTIMIZERS.items():
    register_optimizer(_name, _target)
