//! Lets the shared object, tests and examples find the libtorch that torch-sys linked (`LIBTORCH`, or its own download) without
//! `LD_LIBRARY_PATH`. `LANDMARK_RPATH` replaces that path, for a build that leaves this machine.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LANDMARK_RPATH");
    if let Ok(folder) = std::env::var("LANDMARK_RPATH").or_else(|_| std::env::var("DEP_TCH_LIBTORCH_LIB")) {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
