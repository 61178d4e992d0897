import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PINNED_NODE } from './processes.ts'

const MIB = 1_048_576

/** A data folder on a disk that a test can fill. */
export interface SmallDisk {
  /** The system's error when it is full. */
  readonly fullness: RegExp
  /** An empty folder on it. */
  readonly folder: string
  /** The Node.js for programs that start while it is full. Undefined: any. */
  readonly fullNode: string | undefined
  /** Leaves room for at most so many bytes. `pid` is the program that writes there. */
  fill(roomBytes: number, pid: number | null): void
  /** Makes room again. Programs that ran meanwhile must have ended. */
  free(): void
  remove(): void
}

/** A separate file system in memory. Only root may mount one. */
function mounted(root: string): SmallDisk {
  const folder = join(root, 'data')
  const ballast = join(root, 'ballast')
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${24 * MIB}`, 'tmpfs', root])
  mkdirSync(folder)
  return {
    fullness: /No space left on device|ENOSPC/,
    folder,
    fullNode: undefined,
    fill: (roomBytes) => {
      const { bavail, bsize } = statfsSync(root)
      try {
        writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - roomBytes), 1))
      } catch (error) {
        // The node wrote at the same time, so the disk is fuller than intended. That does no harm.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    free: () => rmSync(ballast),
    // Lazily, because the files of an ended program are released a moment later.
    remove: () => void execFileSync('umount', ['--lazy', root]),
  }
}

/** A limit to the size of files. It needs no root rights. */
function limited(root: string): SmallDisk {
  const folder = join(root, 'data')
  const fullNode = join(root, 'node')
  mkdirSync(folder)
  writeFileSync(fullNode, `#!/bin/sh\nulimit -f 0\nexec '${PINNED_NODE}' "$@"\n`)
  chmodSync(fullNode, 0o755)
  return {
    fullness: /File too large|EFBIG/,
    folder,
    fullNode,
    fill: (roomBytes, pid) => {
      if (pid === null) return
      const largest = Math.max(0, ...filesIn(folder).map((path) => statSync(path).size))
      const limit = roomBytes === 0 ? 0 : largest + roomBytes
      execFileSync('prlimit', ['--pid', String(pid), `--fsize=${limit}:${limit}`])
    },
    free: () => {},
    remove: () => {},
  }
}

function filesIn(folder: string): readonly string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

/** Every kind of small disk that this user may make. `make` takes an empty folder. */
export const SMALL_DISKS: readonly (readonly [name: string, make: (root: string) => SmallDisk])[] = [
  ...(process.getuid?.() === 0 ? [['a full file system', mounted] as const] : []),
  ['a limit to the size of files', limited] as const,
]
