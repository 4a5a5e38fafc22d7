//! Platform of a built program, read from the program itself.

use anyhow::{Result, bail};

use super::bytes::Bytes;
use super::elf::{self, Needs};

/// Numbers of processors. Source: the formats ELF, Mach-O and PE.
const ELF_X64: u16 = 62;
const ELF_ARM64: u16 = 183;
const MACH_X64: u32 = 0x0100_0007;
const MACH_ARM64: u32 = 0x0100_000c;
const PE_X64: u16 = 0x8664;
const PE_ARM64: u16 = 0xaa64;
/// The start of a 64-bit program for macOS.
const MACH: &[u8] = b"\xcf\xfa\xed\xfe";
/// The command of such a program that says from which version of the system on it runs, and where it says it.
const BUILD_VERSION: u32 = 0x32;
const LEAST_VERSION: usize = 12;
/// The oldest C library that has a tag for both processors: `manylinux_2_17`, which is `manylinux2014`.
const OLDEST: (u32, u32) = (2, 17);

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    /// Linux.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

/// A processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    /// `x86_64`.
    X64,
    /// `aarch64`.
    Arm64,
}

/// A platform, and what a program for it needs there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// The operating system.
    pub(super) system: System,
    /// The processor.
    pub(super) processor: Processor,
    /// The platform in the name of a wheel.
    pub(super) wheel: String,
    /// The least version of the C library; `None` where there is none, or the program is static.
    pub(super) glibc: Option<(u32, u32)>,
    /// Libraries by the names of their files; Linux alone.
    pub(super) libraries: Vec<String>,
}

impl Target {
    /// Reads the platform of a program.
    pub(super) fn of(program: &[u8]) -> Result<Self> {
        if elf::is_elf(program) {
            linux(elf::needs(program)?)
        } else if program.starts_with(MACH) {
            mac(Bytes(program))
        } else if program.starts_with(b"MZ") {
            windows(Bytes(program))
        } else {
            bail!("the program is of no system that is known here (ELF, Mach-O, PE)")
        }
    }

    /// Checks that a module for this platform runs wherever the program does, so that one package may hold both.
    ///
    /// # Errors
    /// Fails for another system or processor, and for a newer C library.
    pub(super) fn must_hold(&self, module: &Self) -> Result<()> {
        if (self.system, self.processor) != (module.system, module.processor) {
            bail!("the module is for {}, the program for {}", module.triple(), self.triple());
        }
        if module.glibc > self.glibc {
            bail!("the module needs the C library of {}, the program that of {}", module.wheel, self.wheel);
        }
        Ok(())
    }

    /// Returns the name of the module's file in a package for Python.
    pub(super) fn module(&self) -> &'static str {
        if self.system == System::Windows { "_engine.pyd" } else { "_engine.abi3.so" }
    }

    /// Returns the name that Rust gives the platform.
    pub(super) fn triple(&self) -> &'static str {
        match (self.system, self.processor, self.glibc.is_some()) {
            (System::Linux, Processor::X64, true) => "x86_64-unknown-linux-gnu",
            (System::Linux, Processor::X64, false) => "x86_64-unknown-linux-musl",
            (System::Linux, Processor::Arm64, true) => "aarch64-unknown-linux-gnu",
            (System::Linux, Processor::Arm64, false) => "aarch64-unknown-linux-musl",
            (System::Mac, Processor::X64, _) => "x86_64-apple-darwin",
            (System::Mac, Processor::Arm64, _) => "aarch64-apple-darwin",
            (System::Windows, Processor::X64, _) => "x86_64-pc-windows-msvc",
            (System::Windows, Processor::Arm64, _) => "aarch64-pc-windows-msvc",
        }
    }

    /// Returns the names that Node gives the system and the processor.
    pub(super) fn node(&self) -> (&'static str, &'static str) {
        let system = match self.system {
            System::Linux => "linux",
            System::Mac => "darwin",
            System::Windows => "win32",
        };
        (system, if self.processor == Processor::X64 { "x64" } else { "arm64" })
    }

    /// Returns the name that Debian and Docker give the processor.
    pub(super) fn debian(&self) -> &'static str {
        if self.processor == Processor::X64 { "amd64" } else { "arm64" }
    }

    /// Returns the name of the program's file.
    pub(super) fn file(&self) -> &'static str {
        if self.system == System::Windows { "mnemal.exe" } else { "mnemal" }
    }
}

fn linux(needs: Needs) -> Result<Target> {
    let (processor, name) = match needs.machine {
        ELF_X64 => (Processor::X64, "x86_64"),
        ELF_ARM64 => (Processor::Arm64, "aarch64"),
        other => bail!("there are no packages for the processor {other} of ELF"),
    };
    let (major, minor) = needs.glibc.unwrap_or(OLDEST).max(OLDEST);
    let mut wheel = format!("manylinux_{major}_{minor}_{name}");
    if needs.glibc.is_none() {
        // A static program runs with every C library.
        wheel = format!("{wheel}.musllinux_1_1_{name}");
    }
    let Needs { glibc, libraries, .. } = needs;
    Ok(Target { system: System::Linux, processor, wheel, glibc, libraries })
}

fn mac(program: Bytes<'_>) -> Result<Target> {
    let (processor, name, mut least) = match program.u32(4)? {
        MACH_X64 => (Processor::X64, "x86_64", (10, 12)),
        MACH_ARM64 => (Processor::Arm64, "arm64", (11, 0)),
        other => bail!("there are no packages for the processor {other:#x} of Mach-O"),
    };
    let mut at = 32;
    for _command in 0..program.u32(16)? {
        if program.u32(at)? == BUILD_VERSION {
            let version = program.u32(at + LEAST_VERSION)?;
            least = (version >> 16, (version >> 8) & 0xff);
        }
        at += program.short(at + 4)?;
    }
    // Since version 11 a wheel names the major version alone.
    let (major, minor) = if least.0 >= 11 { (least.0, 0) } else { least };
    let wheel = format!("macosx_{major}_{minor}_{name}");
    Ok(Target { system: System::Mac, processor, wheel, glibc: None, libraries: Vec::new() })
}

fn windows(program: Bytes<'_>) -> Result<Target> {
    let header = program.short(0x3c)?;
    let (processor, wheel) = match program.u16(header + 4)? {
        PE_X64 => (Processor::X64, "win_amd64"),
        PE_ARM64 => (Processor::Arm64, "win_arm64"),
        other => bail!("there are no packages for the processor {other:#x} of PE"),
    };
    let wheel = wheel.to_owned();
    Ok(Target { system: System::Windows, processor, wheel, glibc: None, libraries: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample;

    #[test]
    fn the_tag_of_a_wheel_is_the_c_library_that_the_program_needs() {
        let wheel = |version| Target::of(&sample::program(&[("libc.so.6", version, 0)])).unwrap().wheel;
        assert_eq!(wheel("GLIBC_2.34"), "manylinux_2_34_x86_64");
        assert_eq!(wheel("GLIBC_2.4"), "manylinux_2_17_x86_64");
    }

    #[test]
    fn a_static_program_runs_with_every_c_library() {
        let target = Target::of(&sample::program(&[])).unwrap();
        assert_eq!(target.wheel, "manylinux_2_17_x86_64.musllinux_1_1_x86_64");
        assert_eq!((target.triple(), target.debian()), ("x86_64-unknown-linux-musl", "amd64"));
    }

    #[test]
    fn a_module_is_of_the_platform_of_its_program() {
        let target = |version| Target::of(&sample::program(&[("libc.so.6", version, 0)])).unwrap();
        assert!(target("GLIBC_2.34").must_hold(&target("GLIBC_2.28")).is_ok());
        let newer = target("GLIBC_2.28").must_hold(&target("GLIBC_2.34")).unwrap_err().to_string();
        assert!(newer.contains("manylinux_2_34") && newer.contains("manylinux_2_28"), "{newer}");
        let arm = Target { processor: Processor::Arm64, ..target("GLIBC_2.28") };
        assert!(arm.must_hold(&target("GLIBC_2.28")).is_err());
    }

    #[test]
    fn programs_of_other_systems_are_known_by_their_headers() {
        let mut mac = [MACH, &MACH_ARM64.to_le_bytes(), &[0; 8], &1_u32.to_le_bytes(), &[0; 12]].concat();
        for number in [BUILD_VERSION, 24, 1, 0x000b_0300, 0, 0] {
            mac.extend(number.to_le_bytes());
        }
        let mac = Target::of(&mac).unwrap();
        assert_eq!((mac.wheel.as_str(), mac.node()), ("macosx_11_0_arm64", ("darwin", "arm64")));
        let mut windows = [&b"MZ"[..], &[0; 58], &64_u32.to_le_bytes(), b"PE\0\0"].concat();
        windows.extend(PE_X64.to_le_bytes());
        let windows = Target::of(&windows).unwrap();
        assert_eq!((windows.wheel.as_str(), windows.file()), ("win_amd64", "mnemal.exe"));
        assert!(Target::of(b"#!/bin/sh\n").is_err());
    }
}
