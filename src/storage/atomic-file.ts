import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file whole: it is written beside, flushed and renamed, so that a crash leaves the old one or the new one. */
export async function writeFileAtomically(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  const file = await open(temporary, 'w', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncFolder(dirname(path))
}

/** Makes the rename itself durable; some file systems cannot, and then it is as durable as they make it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
