import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { PINNED_NODE } from '../../../../support/processes.ts'
import { ROOT } from '../../../../support/source-tree.ts'

/** A program that opens a reader, checks its nodes once, and prints whether viem was loaded. */
function programOf(config: object): string {
  return `
    import { registerHooks } from 'node:module'
    let loaded = false
    registerHooks({ load: (url, context, next) => { loaded ||= url.includes('/node_modules/viem/'); return next(url, context) } })
    const { RpcEvmReader } = await import('./src/adapters/evm/evm-reader.ts')
    const { systemClock, systemTimers } = await import('./src/daemon/runtime.ts')
    const reader = RpcEvmReader.open({ config: ${JSON.stringify(config)}, clock: systemClock, timers: systemTimers })
    await reader.value.start()
    reader.value.stop()
    console.log(loaded)
  `
}

/** URL of the discard port, on which nothing listens. */
const DEAD_URL = 'http://127.0.0.1:9'

describe('the library for names of ENS', () => {
  it.each([
    [{ ethereum: [], base: [] }, 'false'],
    [{ ethereum: [], base: [DEAD_URL] }, 'false'],
    [{ ethereum: [DEAD_URL], base: [] }, 'true'],
  ])('with nodes %j is loaded: %s', async (config, expected) => {
    const args = ['--input-type=module', '--eval', programOf(config)]
    const { stdout } = await promisify(execFile)(PINNED_NODE, args, { cwd: ROOT })
    expect(stdout.trim()).toBe(expected)
  })
})
