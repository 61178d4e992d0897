import { fieldsOf } from '../../http.ts'
import type { TabJournal, TabNote } from './tab-types.ts'

/** Notes in memory. They end with the process. */
export function memoryTabs(): TabJournal {
  const tabs = new Map<string, TabNote[]>()
  return {
    append(note) {
      const notes = tabs.get(note.tabId) ?? []
      notes.push(note)
      tabs.set(note.tabId, notes)
    },
    read: (tabId) => [...(tabs.get(tabId) ?? [])],
    list: () => [...tabs.keys()],
  }
}

/** The parts of a file system that notes need. Paths are relative to the journal's folder. */
export interface NoteFiles {
  names(): Promise<readonly string[]>
  text(name: string): Promise<string>
  /** Appends and syncs. */
  append(name: string, text: string): Promise<void>
}

const FILE = /^tab-([0-9a-f]{64})\.jsonl$/

interface Waiting {
  readonly line: string
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

/** Notes in files, one for each tab. Notes that wait while others are written go to the disk together. */
export function fileTabs(files: NoteFiles): TabJournal {
  const waiting = new Map<string, Waiting[]>()
  const busy = new Set<string>()
  const work = async (name: string): Promise<void> => {
    busy.add(name)
    for (let group = waiting.get(name); group !== undefined; group = waiting.get(name)) {
      waiting.delete(name)
      try {
        await files.append(name, group.map(({ line }) => `\n${line}\n`).join(''))
        for (const { done } of group) done()
      } catch (error) {
        for (const { failed } of group) failed(error)
      }
    }
    busy.delete(name)
  }
  return {
    append: (note) =>
      new Promise<void>((done, failed) => {
        const name = `tab-${note.tabId}.jsonl`
        waiting.set(name, [...(waiting.get(name) ?? []), { line: JSON.stringify(note), done, failed }])
        if (!busy.has(name)) void work(name)
      }),
    read: async (tabId) => notesIn(await files.text(`tab-${tabId}.jsonl`)),
    list: async () => (await files.names()).flatMap((name) => FILE.exec(name)?.[1] ?? []),
  }
}

/** Text under keys, as in `localStorage`. */
interface Texts {
  readonly length: number
  key(index: number): string | null
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

/** Notes in a browser's storage, one entry for each note. Pages of one origin that share a tab never overwrite each other. */
export function storageTabs(storage: Texts, prefix: string): TabJournal {
  const head = `${prefix}tab.`
  const keys = (): readonly string[] =>
    Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? '').filter((key) => key.startsWith(head))
  let added = 0
  return {
    append(note) {
      const place = [Date.now(), added++].map((number) => String(number).padStart(15, '0')).join('.')
      storage.setItem(`${head}${note.tabId}.${place}.${crypto.randomUUID()}`, JSON.stringify(note))
    },
    read: (tabId) =>
      keys()
        .filter((key) => key.startsWith(`${head}${tabId}.`))
        .sort()
        .flatMap((key) => notesIn(storage.getItem(key) ?? '')),
    list: () => [...new Set(keys().map((key) => key.slice(head.length).split('.')[0] as string))],
  }
}

/** A line that was cut short by a crash is left out: nothing was sent on its account. */
function notesIn(text: string): readonly TabNote[] {
  return text.split('\n').flatMap((line) => {
    try {
      const note = fieldsOf(JSON.parse(line))
      return typeof note.what === 'string' && typeof note.tabId === 'string' ? [note as unknown as TabNote] : []
    } catch {
      return []
    }
  })
}
