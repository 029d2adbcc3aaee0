# From a checkout: make package, then brew install --formula packaging/brew/tessera.rb
class Tessera < Formula
  desc "Strided N-dimensional tensors for C"
  homepage "file://#{File.expand_path("../../README.md", __dir__)}"
  url "file://#{File.expand_path("../../build/packages/tessera-0.2.0.tar.gz", __dir__)}"
  version "0.2.0"
  license "Apache-2.0"

  depends_on "cmake" => :build

  def install
    system "cmake", "-S", ".", "-B", "build", *std_cmake_args, "-DTSR_CUDA=OFF", "-DTSR_BUILD_COMPAT=OFF",
           "-DTSR_BUILD_PYTHON=OFF",
           "-DTSR_BUILD_BACKENDS=OFF", "-DTSR_BUILD_TESTS=OFF", "-DTSR_BUILD_EXAMPLES=OFF"
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"tsr", "selftest"
    (testpath/"hello.c").write <<~C
      #include <tessera/tessera.h>
      int main(void) { return tsr_build_max_ndim() == TSR_MAX_NDIM ? 0 : 1; }
    C
    system ENV.cc, "hello.c", "-I#{include}", "-L#{lib}", "-ltessera", "-o", "hello"
    system "./hello"
  end
end
