import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readRequestFile, reasonNotToSave, saveResultFile } from '../../../../src/cli/call-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'farthing-call-file-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = (name: string): string => join(folder, name)

const BYTES = Buffer.from('%PDF-1.7 and the rest')
const FILE = { base64: BYTES.toString('base64'), sha256: createHash('sha256').update(BYTES).digest('hex') }

describe('the file of a result', () => {
  it('is saved as it is, wherever the result holds it', async () => {
    expect(await saveResultFile(path('a.pdf'), { type: 'invoice', pdf: FILE })).toEqual({
      ok: true,
      value: BYTES.length,
    })
    expect(readFileSync(path('a.pdf'))).toEqual(BYTES)
    expect((await saveResultFile(path('b.png'), { base64: FILE.base64 })).ok).toBe(true)
  })

  it('is not saved over another, under another hash, or where there is none', async () => {
    writeFileSync(path('kept'), 'mine')
    const other = { ...FILE, sha256: '0'.repeat(64) }
    for (const [name, result, reason] of [
      ['kept', FILE, /there is such a file/],
      ['c', other, /does not have the SHA-256/],
      ['c', { pdf: { base64: '!' } }, /no base64/],
      ['c', { text: 'x' }, /holds no file/],
      ['c', null, /holds no file/],
      ['nowhere/c', FILE, /ENOENT/],
    ] as const) {
      const saved = await saveResultFile(path(name), result)
      expect(saved).toMatchObject({ ok: false, fault: { code: 'file/unwritable' } })
      expect(saved.ok ? '' : String(saved.fault.detail.reason)).toMatch(reason)
    }
    expect(readFileSync(path('kept'), 'utf8')).toBe('mine')
    expect(await reasonNotToSave(path('c'))).toBeNull()
  })

  it('is refused a place before anything is paid', async () => {
    writeFileSync(path('there'), '')
    expect((await reasonNotToSave(path('there')))?.detail.reason).toMatch(/there is such a file/)
    expect((await reasonNotToSave(path('nowhere/x')))?.detail.reason).toBe('there is no such folder')
  })
})

describe('a request in a file', () => {
  it('is its text without the line end behind it', async () => {
    writeFileSync(path('request'), '{"a": 1}\n\n')
    expect(await readRequestFile(path('request'))).toEqual({ ok: true, value: '{"a": 1}\n' })
  })

  it('is a text and there', async () => {
    writeFileSync(path('bytes'), Buffer.from([0xff, 0xfe]))
    for (const name of ['bytes', 'nowhere'])
      expect(await readRequestFile(path(name))).toMatchObject({ ok: false, fault: { code: 'file/unreadable' } })
  })
})
