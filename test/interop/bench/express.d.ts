/** As much of express as the benchmark calls; the package has no types of its own. */
declare module 'express' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http'

  interface App {
    use(middleware: unknown): void
    post(
      path: string,
      handler: (request: IncomingMessage, response: ServerResponse & { json(body: object): void }) => void,
    ): void
    listen(port: number, host: string, ready: () => void): Server
  }
  function express(): App
  export = express
}
