//! Tells the linker of macOS that the symbols of the interpreter come when the module is loaded.

#[expect(clippy::disallowed_methods, reason = "Cargo tells a build script its target in variables alone")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        println!("cargo:rustc-cdylib-link-arg=-undefined");
        println!("cargo:rustc-cdylib-link-arg=dynamic_lookup");
    }
}
