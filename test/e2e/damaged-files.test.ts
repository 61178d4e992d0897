import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Workshop } from '../support/daemon.ts'
import type { Finished } from '../support/processes.ts'

const workshop = new Workshop()

/** Creates an initialised devnet folder. */
async function initialised(): Promise<string> {
  const folder = workshop.folder()
  expect((await workshop.run(['init', '--data-dir', folder])).code).toBe(0)
  return folder
}

/** Expects one line on standard error besides the JSON log, which matches `words`, and no stack trace. */
function expectOneLine({ stderr, stdout, code }: Finished, words: RegExp): void {
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  expect(lines).toEqual([expect.stringMatching(words)])
  expect(lines[0]).toMatch(/^farthing: /)
  expect(stderr).not.toMatch(/unexpected error|\n? +at /)
  expect(stdout).toBe('')
  expect([1, 2]).toContain(code)
}

describe.concurrent('a file or folder that cannot be used is named in one line:', () => {
  it('a data folder whose chain is gone is not silently replaced by an empty one', async () => {
    const folder = await initialised()
    rmSync(join(folder, 'chain'), { recursive: true })
    for (const command of [['start', '--rpc-port', '0'], ['audit']]) {
      expectOneLine(await workshop.run([...command, '--data-dir', folder]), /is damaged: /)
    }
  })

  it('a chain whose database lost its manifest', async () => {
    const folder = await initialised()
    rmSync(join(folder, 'chain', 'CURRENT'))
    expectOneLine(await workshop.run(['audit', '--data-dir', folder]), /is damaged: /)
  })

  it('a marker file that is no JSON', async () => {
    const folder = await initialised()
    writeFileSync(join(folder, 'network.json'), '')
    for (const command of [['start', '--rpc-port', '0'], ['audit']]) {
      expectOneLine(await workshop.run([...command, '--data-dir', folder]), /network\.json|is damaged/)
    }
  })

  it('an invalid wallet file', async () => {
    const folder = await initialised()
    for (const content of [
      '',
      '{}',
      '{"version":2}',
      '{"version":1,"kdf":{"name":"argon2id"},"cipher":{"name":"x"}}',
    ]) {
      writeFileSync(join(folder, 'wallets', 'market.json'), content)
      expectOneLine(await workshop.run(['start', '--rpc-port', '0', '--data-dir', folder]), /market\.json is damaged: /)
    }
  })

  it('a kept call that is damaged', async () => {
    const folder = await initialised()
    const daemon = await workshop.start(workshop.folder(), { mine: 0 })
    const txId = 'ab'.repeat(32)
    mkdirSync(join(folder, 'calls'))
    for (const content of ['', '{}', '{"tx":"zz"}']) {
      writeFileSync(join(folder, 'calls', `${txId}.json`), content)
      const args = ['call', '--tx', txId, '--rpc', daemon.url, '--data-dir', folder]
      expectOneLine(await workshop.run(args), new RegExp(txId))
    }
    await daemon.stop()
  })

  it('words in a file that is not there, or that are none', async () => {
    const folder = workshop.folder()
    const args = ['wallet', 'import', '--data-dir', folder]
    expectOneLine(await workshop.run([...args, '--words-file', '/nowhere/words']), /\/nowhere\/words/)
    expectOneLine(await workshop.run(args, { input: 'twelve monkeys' }), /these are not 24 valid words/)
    expectOneLine(await workshop.run(args, { input: '' }), /these are not 24 valid words/)
  })

  it('an export into a folder that is not there', async () => {
    const folder = await initialised()
    const refused = await workshop.run(['export', '/nowhere/blocks', '--data-dir', folder])
    expectOneLine(refused, /\/nowhere\/blocks/)
  })

  it('a data folder that is a file, or that cannot be written', async () => {
    const path = workshop.path('file')
    writeFileSync(path, '')
    for (const command of [['init'], ['start', '--rpc-port', '0'], ['wallet', 'new']]) {
      expectOneLine(await workshop.run([...command, '--data-dir', path]), /\/file/)
    }
  })

  it('waiting transactions that are damaged are left out, and the node starts', async () => {
    const folder = await initialised()
    writeFileSync(join(folder, 'mempool.bin'), Buffer.from('nonsense'.repeat(9)))
    const daemon = await workshop.start(folder, { mine: 0 })
    expect((await daemon.stop()).code).toBe(0)
  })
})
