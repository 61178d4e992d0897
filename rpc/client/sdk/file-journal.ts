import { FarthingError } from './errors.ts'
import { parseRecord, recordText } from './journal.ts'
import { checkGiven, KIND } from './options.ts'
import type { PaymentJournal, PaymentRecord } from './shapes.ts'
import { fileTabs } from './tabs/tab-journal.ts'

interface FileSystem {
  mkdir(path: string, options: { readonly recursive: true; readonly mode: number }): Promise<unknown>
  readdir(path: string): Promise<string[]>
  readFile(path: string, encoding: 'utf8'): Promise<string>
  open(
    path: string,
    flags: 'a',
    mode: number,
  ): Promise<{
    write(bytes: Uint8Array): Promise<{ readonly bytesWritten: number }>
    sync(): Promise<void>
    close(): Promise<void>
  }>
}

const FILE = /^payments-\d{4}-\d{2}-\d{2}\.jsonl$/
const PRIVATE = { folder: 0o700, file: 0o600 }

/**
 * A journal in a folder, for runtimes with Node's file system: one file of JSON lines a day, and one for each tab. Each line is on disk before `put` resolves. It
 * holds payment secrets, so only the owner can read the folder. Several processes may share it. Files of the days before yesterday may be
 * deleted once none of their payments is open: the daily ceilings need the records of the last 24 hours.
 */
export function fileJournal(folder: string): PaymentJournal {
  checkGiven('fileJournal', 'folder', folder, KIND.text)
  const fs = fileSystem()
  const append = async (name: string, text: string): Promise<void> => {
    await fs.mkdir(folder, { recursive: true, mode: PRIVATE.folder })
    const file = await fs.open(`${folder}/${name}`, 'a', PRIVATE.file)
    try {
      // Written in one piece, or else lines of two processes get into each other.
      const bytes = new TextEncoder().encode(text)
      const { bytesWritten } = await file.write(bytes)
      if (bytesWritten < bytes.length) throw new Error('no space left for the whole line')
      await file.sync()
    } finally {
      await file.close()
    }
  }
  const tabs = fileTabs({
    append,
    names: () => fs.readdir(folder).catch(unlessMissing([])),
    text: (name) => fs.readFile(`${folder}/${name}`, 'utf8').catch(unlessMissing('')),
  })
  return {
    // Begins with a line break, so that a line cut short by a crash does not spoil this one.
    put: (record) => append(fileOf(record.atMs), `\n${recordText(record)}\n`),
    async get(txId) {
      for (const name of (await names(fs, folder)).reverse()) {
        const found = (await read(fs, `${folder}/${name}`)).get(txId)
        if (found !== undefined) return found
      }
      return undefined
    },
    async since(atMs) {
      const files = (await names(fs, folder)).filter((name) => name >= fileOf(atMs))
      const days = await Promise.all(files.map((name) => read(fs, `${folder}/${name}`)))
      return days.flatMap((records) => [...records.values()]).filter((record) => record.atMs >= atMs)
    },
    tabs,
  }
}

function fileOf(atMs: number): string {
  return `payments-${new Date(atMs).toISOString().slice(0, 10)}.jsonl`
}

async function names(fs: FileSystem, folder: string): Promise<string[]> {
  const all = await fs.readdir(folder).catch(unlessMissing([]))
  return all.filter((name) => FILE.test(name)).sort()
}

/** The last record of each payment in a file. */
async function read(fs: FileSystem, path: string): Promise<ReadonlyMap<string, PaymentRecord>> {
  const records = new Map<string, PaymentRecord>()
  const text = await fs.readFile(path, 'utf8').catch(unlessMissing(''))
  for (const line of text.split('\n')) {
    const record = parseRecord(line)
    if (record !== undefined) records.set(record.txId, record)
  }
  return records
}

/** A missing file or folder counts as empty. An unreadable one must not, since it holds the day's spending. */
function unlessMissing<T>(empty: T): (error: unknown) => T {
  return (error) => {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return empty
    throw error
  }
}

/** Node's file system, read at run time, so that a browser bundle needs no stub for it. */
function fileSystem(): FileSystem {
  const host = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } }
  const fs = host.process?.getBuiltinModule?.('node:fs/promises')
  if (fs === undefined) throw new FarthingError('there are no files here', { code: 'no_file_system' })
  return fs as FileSystem
}
