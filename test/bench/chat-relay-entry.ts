import { type AddressInfo, connect, createServer } from 'node:net'

/** Forwards bytes between its callers and a port over kept-open connections: the least that can stand before a model. */
const port = Number(process.argv[2])

const server = createServer((caller) => {
  const model = connect(port, '127.0.0.1').setNoDelay(true)
  caller.setNoDelay(true).pipe(model).pipe(caller)
  for (const [one, other] of [
    [caller, model],
    [model, caller],
  ] as const)
    one.on('error', () => {}).once('close', () => other.destroy())
})

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
