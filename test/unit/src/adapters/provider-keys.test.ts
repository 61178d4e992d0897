import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultMessage } from '../../../../consensus/primitives/fault.ts'
import { readProviderKeys } from '../../../../src/adapters/provider-keys.ts'
import { removeFolder, temporaryFolder } from '../../../support/processes.ts'

const SECRET = 'CG-secret-key'

describe('keys of providers', () => {
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => removeFolder(folder))

  const read = async (text: string) => {
    const path = join(folder, 'keys.json')
    writeFileSync(path, text)
    return { path, said: await readProviderKeys(path) }
  }

  it('are none without a file', async () => {
    const said = await readProviderKeys(null)
    expect(said.ok && said.value.of('coingecko')).toBeNull()
  })

  it('are read by name, and shown by nothing', async () => {
    const { said } = await read(JSON.stringify({ coingecko: SECRET, 'open-meteo': 'x' }))
    if (!said.ok) throw new Error(faultMessage(said.fault))
    expect([said.value.of('coingecko'), said.value.of('open-meteo'), said.value.of('brave')]).toEqual([
      SECRET,
      'x',
      null,
    ])
    expect(said.value.of('constructor')).toBeNull()
    expect(inspect(said.value, { depth: 9, showHidden: true })).not.toContain(SECRET)
    expect(JSON.stringify(said.value)).not.toContain(SECRET)
  })

  it.each([
    ['no JSON', `{"coingecko": "${SECRET}"`],
    ['a list', `["${SECRET}"]`],
    ['null', 'null'],
    ['a key that is no text', '{"coingecko": 17}'],
    ['an empty key', '{"coingecko": ""}'],
    ['a key with a line break', `{"coingecko": "${SECRET}\\n"}`],
    ['a file that is far too long', `{"coingecko": "${SECRET}"}${' '.repeat(70_000)}`],
  ])('say what the file must be, not what it is: %s', async (_, text) => {
    const { path, said } = await read(text)
    expect(said).toMatchObject({
      ok: false,
      fault: { code: 'config/file', detail: { path, reason: 'it is not JSON of {"<provider>": "<key>"}' } },
    })
    expect(JSON.stringify(said)).not.toContain(SECRET)
  })

  it('name those that there are, where one is for a stranger; the stranger may be a key in the wrong place', async () => {
    const { said } = await read(JSON.stringify({ [SECRET]: 'coingecko' }))
    expect(said.ok ? '' : said.fault.detail.reason).toContain('there are coingecko, coinbase')
    expect(JSON.stringify(said)).not.toContain(SECRET)
  })

  it('cannot be read from a folder or from nothing', async () => {
    mkdirSync(join(folder, 'sub'))
    for (const path of [join(folder, 'sub'), join(folder, 'absent')]) {
      const said = await readProviderKeys(path)
      expect(said).toMatchObject({
        ok: false,
        fault: { code: 'config/file', detail: { path, reason: 'it cannot be read' } },
      })
    }
  })
})
