# nix-build packaging/nix
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "tessera";
  version = "0.2.0";
  src = pkgs.lib.cleanSource ../..;

  nativeBuildInputs = [ pkgs.cmake ];
  outputs = [ "out" "dev" ];
  cmakeFlags = [
    "-DTSR_CUDA=OFF"
    "-DTSR_BUILD_COMPAT=OFF"
    "-DTSR_BUILD_PYTHON=OFF"
    "-DTSR_BUILD_BACKENDS=OFF"
    "-DTSR_BUILD_TESTS=OFF"
    "-DTSR_BUILD_EXAMPLES=OFF"
  ];

  doInstallCheck = true;
  installCheckPhase = "$out/bin/tsr selftest";

  meta = {
    description = "Strided N-dimensional tensors for C";
    license = pkgs.lib.licenses.asl20;
    platforms = pkgs.lib.platforms.unix;
    mainProgram = "tsr";
  };
}
