#!/usr/bin/env bash
# Installs what HaloGNN needs to build, test and run on Debian / Ubuntu. Does nothing where all is there already.
#   --reference   also PyTorch, NumPy, SciPy, OpenBLAS and virtual environments, for the scripts that compare with them (never needed by the product)
set -euo pipefail

# Required by the build, in the order of meson.build.
packages=(g++ meson ninja-build pkg-config python3
          libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libeigen3-dev
          libmpich-dev mpich libxxhash-dev zlib1g-dev libzip-dev doctest-dev libboost-dev libmetis-dev)
# Optional: faster dense products (x86-64 only), benchmarks, the lint suite.
optional=(libxsmm-dev libbenchmark-dev clang-format-14 clang-tidy-14)
reference=(python3-torch python3-numpy python3-scipy python3-venv libopenblas0-pthread)

for argument in "$@"; do
  case "$argument" in
    --reference) packages+=("${reference[@]}") ;;
    -h | --help) sed -n '2,3s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "install_dependencies.sh: unknown option $argument (known: --reference)" >&2; exit 2 ;;
  esac
done

if ! command -v apt-get >/dev/null 2>&1; then
  cat >&2 <<'TEXT'
install_dependencies.sh: there is no apt-get here, so nothing was installed. On a cluster, load or build these
(typical names of modules; `module spider NAME` finds yours):

  needed    a C++20 compiler with OpenMP       gcc/12 or newer
            Meson >= 1.0, Ninja, pkg-config    meson ninja pkgconf  (or: pip install --user meson ninja)
            an MPI library                     mpich  (its pkg-config file "mpich" or "mpi" must be visible)
            METIS 5 (32-bit ids)               metis
            Eigen 3.4, Boost headers           eigen boost
            fmt, spdlog, nlohmann-json, CLI11  fmt spdlog nlohmann-json cli11
            zlib, libzip, xxHash               zlib libzip xxhash
            doctest                            doctest
  optional  LIBXSMM (fast dense products)      libxsmm
            Google Benchmark                   googlebenchmark
            clang-format 14, clang-tidy 14     llvm/14

Where a library is not found, put its folder on PKG_CONFIG_PATH, CPATH and LIBRARY_PATH, then run `meson setup build`.
TEXT
  exit 2
fi

# Prints those of the given packages that are not installed.
missing_of() {
  local package
  for package in "$@"; do
    dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      echo "$package"
  done
}

mapfile -t missing < <(missing_of "${packages[@]}")
mapfile -t missing_optional < <(missing_of "${optional[@]}")
if [ $((${#missing[@]} + ${#missing_optional[@]})) -eq 0 ]; then
  echo "install_dependencies.sh: everything is installed already"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "install_dependencies.sh: needs root or sudo to install: ${missing[*]} ${missing_optional[*]}" >&2
    exit 2
  fi
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes "$@"; }

echo "install_dependencies.sh: installing ${missing[*]} ${missing_optional[*]}"
apt update
# An optional package that this release does not have (LIBXSMM off x86-64, another clang) must not stop the rest.
for package in "${missing_optional[@]}"; do
  if [ -n "$(apt-cache madison "$package")" ]; then
    missing+=("$package")
  else
    echo "install_dependencies.sh: this release has no $package; going on without it" >&2
  fi
done
[ ${#missing[@]} -eq 0 ] || apt install --no-install-recommends "${missing[@]}"
