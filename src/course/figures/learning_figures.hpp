// The figures on private learning.
#pragma once

#include "report/api/chart.hpp"

namespace sotto::course_detail {

/// The error of the mean gradient against the clipping norm, measured on made-up rows: the bias of
/// clipping, and noise.
Chart clipping_figure();
/// The noise of the textbook's DP-SGD against its steps, by each calibration.
Chart dpsgd_noise_figure();

}  // namespace sotto::course_detail
