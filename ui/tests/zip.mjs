// A small zip, as a download is.
import { deflateRawSync } from 'node:zlib';

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

const short = (value) => [value & 255, value >> 8];
const long = (value) => [...short(value & 65_535), ...short(value >>> 16)];

/** Packs texts by their names. */
export function zip(files) {
  const [parts, table] = [[], []];
  let place = 0;
  for (const [name, text] of Object.entries(files)) {
    const [title, bytes] = [Buffer.from(name), Buffer.from(text)];
    const packed = deflateRawSync(bytes);
    const head = Buffer.from([
      ...short(20), 0, 0, ...short(8), 0, 0, 0, 0, ...long(crc32(bytes)), ...long(packed.length), ...long(bytes.length),
      ...short(title.length), 0, 0,
    ]);
    table.push(Buffer.from([0x50, 0x4b, 1, 2, ...short(20)]), head, Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...long(place)]), title);
    parts.push(Buffer.from([0x50, 0x4b, 3, 4]), head, title, packed);
    place += 4 + head.length + title.length + packed.length;
  }
  const [count, list] = [short(Object.keys(files).length), Buffer.concat(table)];
  return Buffer.concat([...parts, list, Buffer.from([0x50, 0x4b, 5, 6, 0, 0, 0, 0, ...count, ...count, ...long(list.length), ...long(place), 0, 0])]);
}
