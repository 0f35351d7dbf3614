# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that are known and cannot be converted: why, and what to do."""

from __future__ import annotations

_APPLICATION = "name the tensors in front of it in output_tensors, and compute it there"
_TRAINING = "export after model.eval()"
_SINGULAR = "singular values and eigenvalues take a number of steps that data determine"
_COUNT = "the number of results depends on the data, and there is no bound for it"
_FUNCTION = "MACE has no such function of numbers"
_FACTORS = "the factors of a matrix are no result of MACE's; solve, inv and det are"
_OTHER_STORAGE = "it depends on how a tensor lies in memory"
_SPARSE = "sparse tensors"
_LOSS = "a loss, which training needs"
_RANDOM = "MACE draws uniform and normal numbers only"

_REASONS: dict[str, tuple[str, ...]] = {
    _SINGULAR: (
        *("_linalg_eigh", "_linalg_eigvals", "_linalg_svd", "linalg_cond"),
        *("linalg_eig", "linalg_eigh", "linalg_eigvals", "linalg_eigvalsh"),
        *("linalg_matrix_rank", "linalg_pinv", "linalg_svd", "linalg_svdvals"),
        *("linalg_lstsq", "nuclear_norm", "pinverse", "svd"),
    ),
    _FACTORS: (
        *("geqrf", "linalg_householder_product", "linalg_ldl_factor"),
        *("linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_lu", "linalg_lu_factor"),
        *("linalg_lu_factor_ex", "linalg_lu_solve", "linalg_qr", "lu_solve"),
        *("lu_unpack", "orgqr", "ormqr", "qr", "linalg_matrix_exp", "matrix_exp"),
        *("linalg_tensorinv", "linalg_tensorsolve"),
    ),
    _COUNT: ("bincount", "histogram", "histogramdd"),
    _FUNCTION: (
        *("frexp", "gcd", "i0", "igamma", "igammac", "lcm", "mvlgamma", "nextafter"),
        *("polygamma", "special_bessel_j0", "special_bessel_j1", "special_erfcx"),
        *("special_i0", "special_i0e", "special_i1", "special_i1e"),
        *("special_log_ndtr", "special_zeta"),
    ),
    _OTHER_STORAGE: (
        *("empty_strided", "new_empty_strided", "resize", "set", "sym_is_contiguous"),
        *("sym_storage_offset", "sym_stride"),
    ),
    _SPARSE: (
        *("_sparse_coo_tensor_unsafe", "_to_sparse", "coalesce", "hspmm", "smm"),
        *("sparse_coo_tensor", "sspaddmm", "to_dense", "to_sparse"),
    ),
    _LOSS: (
        *("_ctc_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"),
        *("cosine_embedding_loss", "cross_entropy_loss", "ctc_loss"),
        *("hinge_embedding_loss", "kl_div", "margin_ranking_loss"),
        *("multi_margin_loss", "multilabel_margin_loss", "nll_loss", "nll_loss2d"),
        *("nll_loss_forward", "nll_loss2d_forward", "nll_loss_nd"),
        *("poisson_nll_loss", "soft_margin_loss", "triplet_margin_loss"),
    ),
    _RANDOM: (
        *("_dirichlet_grad", "_sample_dirichlet", "_standard_gamma", "binomial"),
        *("cauchy", "exponential", "fractional_max_pool2d", "fractional_max_pool3d"),
        *("geometric", "log_normal", "poisson", "random"),
    ),
}
_BACKWARD = "it computes gradients"
_REFUSED = {f"aten.{n}": reason for reason, names in _REASONS.items() for n in names}


def refused(operator: str) -> tuple[str, str] | None:
    """Why an operator is refused, and a hint; None if it is not known."""
    if operator.endswith("_backward") or operator.endswith("_backward_data"):
        return _BACKWARD, _TRAINING
    reason = _REFUSED.get(operator)
    if reason is None:
        return None
    hint = "name its input in output_tensors" if reason is _LOSS else _APPLICATION
    return reason, hint
