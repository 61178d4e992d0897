import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { DocumentSheet } from '../../marketplace/ports/document-tasks.ts'
import type { EngineTasks } from '../../marketplace/ports/engines.ts'
import { EnginePool } from '../../src/workers/engine-pool.ts'

const SHEET: DocumentSheet = {
  heading: 'Invoice',
  number: '7',
  issueDate: '2026-01-02',
  seller: null,
  buyer: { label: 'To', name: 'Żaneta Ξένη', lines: ['1 Long Lane'] },
  facts: [],
  columns: { description: 'What', qty: 'Number', unitPrice: 'Price', amount: 'Amount' },
  rows: [{ description: 'Wool', qty: '2', unitPrice: '3.00', amount: '6.00' }],
  totals: [{ label: 'Total', value: '6.00' }],
  sections: [],
  notes: null,
  rule: 'Rounded half up',
}
const encoder = new TextEncoder()
const PAGE = `<title>Sheep</title><article><h1>Sheep</h1>${'<p>Sheep of Berlin give wool, and they like grass.</p>'.repeat(20)}</article>`
const FEED = '<rss version="2.0"><channel><title>News</title><item><title>Wool</title></item></channel></rss>'
const ADDRESS = { url: 'https://farm.example/', mediaType: 'text/html', charset: null }
const TEXT =
  'Anna visited Berlin. She liked the wonderful museums very much. The weather was great. She bought wool from a farm.'
const MARKDOWN =
  '# Wool\n\n```ts\nlet sheep: number = 1\n```\n\n```json\n{"a": }\n```\n\n| a | b |\n|--|--|\n| 1 | 2 |\n'
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PICTURE = new Uint8Array(Buffer.from(PIXEL, 'base64'))

const WORK: { readonly [Task in keyof EngineTasks]: EngineTasks[Task]['input'] } = {
  'page/article': { ...ADDRESS, bytes: encoder.encode(PAGE) },
  'page/meta': { ...ADDRESS, bytes: encoder.encode(PAGE) },
  'page/feed': { ...ADDRESS, mediaType: 'application/rss+xml', bytes: encoder.encode(FEED), itemsMax: 5 },
  'document/pdf': { sheet: SHEET, fonts: [] },
  'document/font': { path: fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')) },
  'text/summary': { text: TEXT },
  'text/mood': { text: TEXT },
  'text/subjects': { text: TEXT },
  'chat/check-code': { text: MARKDOWN },
  'chat/plain-text': { text: MARKDOWN },
  'chat/check-schema': { schema: { type: 'object', required: ['a'] }, text: '{"a": 1}' },
  'image/square-png': { bytes: PICTURE },
  'image/vision': { bytes: PICTURE, bytesMax: 100_000, sideMax: 100 },
  'image/procedural': { seed: 'wool' },
}

function hashed(name: string, value: unknown): unknown {
  return name === 'bytes' ? createHash('sha256').update(JSON.stringify(value)).digest('hex') : value
}

/** Prints a line for each task of the engines: its result for a small input. Bytes are shown by their hash. */
const pool = new EnginePool(1)
for (const [task, input] of Object.entries(WORK))
  console.log(task, JSON.stringify(await pool.run(task as never, input as never, new AbortController().signal), hashed))
await pool.close()
