/* MathFunction.h - a line through points, by least squares. */
#ifndef MATHFUNCTION_H
#define MATHFUNCTION_H

#include <cmath>
#include <cstddef>
#include <vector>

#include "MxBase/Log/Log.h"

class LineRegressionFit {
public:
    double LRFunction(const float &x) const { return alpha_ * x + beta_; }

    /* Stays as it is without points, with more of x than of y, and for points above each other. */
    void SetAlphaAndBeta(const std::vector<float> &xVec, const std::vector<float> &yVec)
    {
        const double count = static_cast<double>(xVec.size());
        double x = 0, y = 0, xx = 0, xy = 0;
        for (size_t i = 0; i < xVec.size() && i < yVec.size(); i++) {
            x += xVec[i];
            y += yVec[i];
            xx += static_cast<double>(xVec[i]) * xVec[i];
            xy += static_cast<double>(xVec[i]) * yVec[i];
        }
        const double divisor = xx * count - x * x;
        if (xVec.empty() || xVec.size() != yVec.size() || std::fabs(divisor) < 1e-15) {
            LogWarn << "LineRegressionFit: no line goes through these points.";
            return;
        }
        alpha_ = (xy * count - x * y) / divisor;
        beta_ = (xx * y - x * xy) / divisor;
    }

    double alpha_ = 0.0;
    double beta_ = 0.0;
};

#endif
