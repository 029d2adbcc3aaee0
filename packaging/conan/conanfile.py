"""Tessera for Conan 2: conan create packaging/conan"""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Tessera(ConanFile):
    name = "tessera"
    version = "0.2.0"
    description = "Strided N-dimensional tensors for C"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "command": [True, False]}
    default_options = {"shared": False, "command": False}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "cli/*", "opcheck/*", "bench/*", "docs/man/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def configure(self):
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["TSR_BUILD_CLI"] = bool(self.options.command)
        for name in ("TSR_CUDA", "TSR_BUILD_COMPAT", "TSR_BUILD_PYTHON", "TSR_BUILD_BACKENDS", "TSR_BUILD_TESTS", "TSR_BUILD_EXAMPLES"):
            toolchain.variables[name] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["tessera"]
        self.cpp_info.set_property("cmake_file_name", "tessera")
        self.cpp_info.set_property("cmake_target_name", "tessera::tessera" if self.options.shared else "tessera::tessera_static")
        self.cpp_info.set_property("pkg_config_name", "tessera")
        if not self.options.shared:
            self.cpp_info.system_libs = ["m", "pthread", "dl"]
