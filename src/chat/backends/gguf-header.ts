import { open } from 'node:fs/promises'

/** Magic, version, counts of tensors and metadata (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). */
const HEADER_BYTES = 24
const VERSIONS = [2, 3]
const COUNT_MAX = 1_000_000n

/** Why a file cannot be a model; null if it can. A loader that trusts absurd counts in a header would never finish. */
export async function ggufTrouble(path: string): Promise<string | null> {
  const header = Buffer.alloc(HEADER_BYTES)
  try {
    const file = await open(path)
    try {
      await file.read(header, 0, HEADER_BYTES, 0)
    } finally {
      await file.close()
    }
  } catch {
    return 'the file cannot be read'
  }
  if (header.toString('latin1', 0, 4) !== 'GGUF') return 'the file is not in the GGUF format'
  const isSound =
    VERSIONS.includes(header.readUInt32LE(4)) &&
    [8, 16].every((at) => header.readBigUInt64LE(at) > 0n && header.readBigUInt64LE(at) <= COUNT_MAX)
  return isSound ? null : 'the file is not a sound GGUF file'
}
