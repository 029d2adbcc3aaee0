/* mlp.cpp - trains the perceptron 784-512-256-10 through the face of Tech Renaissance; bench/faces/mlp.py
 * runs it beside PyTorch, with the same data, weights and order of samples.
 *
 *   bench-renaissance sgd|adam|adamw DATA
 *
 * Each line of input trains one epoch and prints its seconds, the processor's seconds, the mean loss, and
 * the accuracy on the test samples in percent. DATA: int32 counts of training samples, test samples and
 * epochs; images of both as floats; labels of both as int32; for each epoch an order, int32; weights of the
 * layers as floats. */
#include "mlp.hpp"

using namespace tr;

enum { BATCH = 128, PIXELS = 784, CLASSES = 10 };

struct Data {
    std::vector<char> bytes;
    int32_t train, test, epochs;
    const float *images, *test_images, *weights;
    const int32_t *labels, *test_labels, *order;
};

static Data read_data(const char *path)
{
    Data d;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const std::streamoff size = file.tellg();
    if (size < 12) throw TRException(std::string("cannot read ") + path);
    d.bytes.resize(static_cast<size_t>(size));
    file.seekg(0).read(d.bytes.data(), size);
    const int32_t *counts = reinterpret_cast<const int32_t *>(d.bytes.data());
    d.train = counts[0];
    d.test = counts[1];
    d.epochs = counts[2];
    d.images = reinterpret_cast<const float *>(counts + 3);
    d.test_images = d.images + static_cast<size_t>(d.train) * PIXELS;
    d.labels = reinterpret_cast<const int32_t *>(d.test_images + static_cast<size_t>(d.test) * PIXELS);
    d.test_labels = d.labels + d.train;
    d.order = d.test_labels + d.test;
    d.weights = reinterpret_cast<const float *>(d.order + static_cast<size_t>(d.train) * d.epochs);
    return d;
}

class Trainer {
public:
    Trainer(Data data, mlp::Optimizer optimizer)
        : data_(std::move(data)), cpu_(BackendManager::get_cpu_backend()),
          net_(cpu_, BATCH, {PIXELS, 512, 256, CLASSES}, optimizer),
          images_(cpu_->empty(Shape(BATCH, PIXELS), DType::FP32)),
          target_(cpu_->empty(Shape(BATCH, CLASSES), DType::FP32)),
          labels_(cpu_->empty(Shape(BATCH), DType::INT32))
    {
        const float *w = data_.weights;
        for (mlp::Layer &l : net_.layers()) {
            l.weight.from_cpu_data(w, l.weight.memory_size());
            w += l.weight.numel();
        }
    }

    /* The mean loss. */
    double train(int epoch)
    {
        const int32_t *order = data_.order + static_cast<size_t>(epoch % data_.epochs) * data_.train;
        double loss = 0;
        int steps = 0;
        for (int32_t i = 0; i + BATCH <= data_.train; i += BATCH, ++steps) {
            for (int b = 0; b < BATCH; ++b) take(b, data_.images, data_.labels, order[i + b]);
            cpu_->one_hot_into(labels_, target_, CLASSES);
            loss += net_.train(images_, target_);
        }
        return loss / steps;
    }

    double accuracy()
    {
        float right = 0;
        int count = 0;
        for (int32_t i = 0; i + BATCH <= data_.test; i += BATCH, count += BATCH) {
            for (int b = 0; b < BATCH; ++b) take(b, data_.test_images, data_.test_labels, i + b);
            const Tensor same = cpu_->eq(cpu_->argmax(net_.forward(images_), 1), labels_);
            right += cpu_->sum(cpu_->cast(same, DType::FP32), 0).item<float>();
        }
        return 100.0 * static_cast<double>(right) / count;
    }

private:
    void take(int place, const float *images, const int32_t *labels, int32_t sample)
    {
        std::memcpy(images_.data_ptr<float>() + place * PIXELS, images + static_cast<size_t>(sample) * PIXELS,
                    PIXELS * sizeof(float));
        labels_.data_ptr<int32_t>()[place] = labels[sample];
    }

    Data data_;
    std::shared_ptr<CpuBackend> cpu_;
    mlp::Network net_;
    Tensor images_, target_, labels_;
};

static mlp::Optimizer optimizer_named(const std::string &name)
{
    if (name == "sgd") return mlp::Optimizer::SGD;
    if (name == "adam") return mlp::Optimizer::ADAM;
    if (name == "adamw") return mlp::Optimizer::ADAMW;
    throw TRException("no such optimizer: " + name);
}

static void serve(Trainer &trainer)
{
    std::string line;
    for (int epoch = 0; std::getline(std::cin, line); ++epoch) {
        const auto start = std::chrono::steady_clock::now();
        const std::clock_t busy = std::clock();
        const double loss = trainer.train(epoch);
        const double cpu = static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC;
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        std::cout << seconds.count() << ' ' << cpu << ' ' << loss << ' ' << trainer.accuracy() << std::endl;
    }
}

int main(int argc, char **argv)
{
    Logger::get_instance().set_quiet_mode(true);
    if (argc != 3) {
        std::cerr << "usage: bench-renaissance sgd|adam|adamw DATA\n";
        return 2;
    }
    try {
        Trainer trainer(read_data(argv[2]), optimizer_named(argv[1]));
        serve(trainer);
    } catch (const std::exception &e) {
        std::cerr << "bench-renaissance: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
