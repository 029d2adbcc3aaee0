// 17_cpp.cpp - the tour in C++: tessera.hpp, with operators, slices and exceptions.
//
// A tensor releases itself, and a call that fails throws what C reads from tsr_last_error().
#include <cmath>
#include <iostream>
#include <tessera/tessera.hpp>

using namespace tessera;

// exp(x - max) / sum, as it is in the books.
static tensor own_softmax(const tensor &x)
{
    const tensor e = exp(x - x.max({-1}, true));
    return e / e.sum({-1}, true);
}

int main()
try {
    // Views share memory: a column, every other column backwards, a row as a column.
    tensor x = arange<float>(12).view({3, 4});
    x(all, 1).fill(-1);
    std::cout << x << "\n\n" << x(ellipsis, slice(none, none, -2)) << "\n\n";
    std::cout << "one row seen as " << x[0](all, newaxis).shape()[0] << " by 1, shared: " << std::boolalpha
              << (x[0].data<float>() == x.data<float>()) << "\n\n";

    // Broadcasting, numbers, comparisons.
    const tensor above = x > x.mean();
    std::cout << "elements above the mean: " << above.to<int>().sum().item<int>() << "\n";
    std::cout << where(above, x, zeros<float>({1})) << "\n\n";

    // Networks.
    const tensor q = randn<float>({4, 8}, 1), k = randn<float>({6, 8}, 2), v = randn<float>({6, 8}, 3);
    const tensor scores = own_softmax(matmul(q, k.transpose()) / std::sqrt(8.0f));
    std::cout << "softmax agrees: " << allclose(scores, softmax(matmul(q, k.transpose()) / std::sqrt(8.0f)))
              << ", rows sum to 1: " << allclose(scores.sum({1}), ones<float>({4})) << "\n";
    std::cout << "attended: " << matmul(scores, v).shape()[0] << " by " << matmul(scores, v).shape()[1] << "\n";

    // What has no name in tessera.hpp.
    std::cout << call(tsr_norm, x, axes{1}, false, 2.0) << "\n\n";

    // Your own memory, without a copy.
    float samples[] = {3, 1, 2};
    tensor own = wrap(samples, {3});
    own *= 10;
    std::cout << samples[0] << " " << samples[1] << " " << samples[2] << "\n";

    // Failures are exceptions.
    try {
        matmul(x, x);
    } catch (const error &e) {
        std::cout << tsr_status_name(e.status()) << ": " << e.what() << "\n";
    }
} catch (const error &e) {
    std::cerr << e.what() << "\n";
    return 1;
}

/* Output:
f32(3, 4 | 4, 1)
[[ 0. -1.  2.  3.]
 [ 4. -1.  6.  7.]
 [ 8. -1. 10. 11.]]

f32(3, 2 | 4, -2)
[[ 3. -1.]
 [ 7. -1.]
 [11. -1.]]

one row seen as 4 by 1, shared: true

elements above the mean: 5
f32(3, 4 | 4, 1)
[[ 0.  0.  0.  0.]
 [ 0.  0.  6.  7.]
 [ 8.  0. 10. 11.]]

softmax agrees: true, rows sum to 1: true
attended: 4 by 8
f32(3 | 1)
[ 3.7416575 10.099504  16.911535 ]

30 10 20
TSR_ESHAPE: matmul: b: k is 4 from a, but dim -2 of b is 3
*/
