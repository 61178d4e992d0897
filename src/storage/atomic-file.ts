import { link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

let written = 0

/** A crash leaves either the old file or the new one. */
export async function writeFileAtomically(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
  await rename(await writeBeside(path, content, mode), path)
  await syncFolder(dirname(path))
}

/** Creates a file atomically; returns false and changes nothing if the name exists. */
export async function createFileAtomically(path: string, content: string | Uint8Array, mode = 0o644): Promise<boolean> {
  const temporary = await writeBeside(path, content, mode)
  try {
    await link(temporary, path)
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(temporary)
  }
  await syncFolder(dirname(path))
  return true
}

async function writeBeside(path: string, content: string | Uint8Array, mode: number): Promise<string> {
  const temporary = `${path}.${process.pid}-${written++}.tmp`
  try {
    await writeFlushed(temporary, content, mode)
  } catch (error) {
    // On a full disk, each failed attempt would otherwise use up more of the remaining space.
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
  return temporary
}

async function writeFlushed(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'w', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes a new or changed name in the folder durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
