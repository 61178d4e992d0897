import { serveProcess } from '../../src/workers/process-port.ts'

/** A task that makes the process misbehave. `url` names the misdeed. */
interface Misdeed {
  readonly task: string
  readonly input: { readonly url: string }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const MISDEEDS: Readonly<Record<string, () => unknown>> = {
  pid: () => process.pid,
  spin: () => {
    for (;;);
  },
  wait: () => sleep(3_600_000),
  'fill the heap': () => {
    const objects: object[] = []
    for (;;) objects.push({ with: [1, 2, 3] })
  },
  'ask for much in one piece': () => {
    const numbers: number[] = []
    for (;;) numbers.push(1.5)
  },
  'overflow the stack': () => {
    const deeper = (n: number): number => 1 + deeper(n + 1)
    return deeper(0)
  },
  'end the process': () => process.exit(3),
  'throw later': () => {
    setImmediate(() => {
      throw new Error('later')
    })
    return sleep(3_600_000)
  },
  'give what cannot be given': () => () => undefined,
  secrets: () => ({ ...process.env }),
  'write a file': async () => (await import('node:fs')).writeFileSync('/tmp/engine-was-here', ''),
  'read a file': async () => (await import('node:fs')).readFileSync('/etc/passwd').length,
  'start a program': async () => (await import('node:child_process')).spawnSync('true').error?.message,
  'never begin': () => undefined,
}

serveProcess(async ({ input }: Misdeed, started) => {
  if (input.url === 'never begin') await sleep(3_600_000)
  started()
  return { output: await MISDEEDS[input.url]?.() }
})
