import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/source-tree.ts'

const FOLDER = 'marketplace/services'
/** The export of a service's definition. */
const DEFINITION = /^export const (\w+)(?:: ServiceDefinition)? = \w+Service[<(]/gm

/** The name of a service's definition, and its file. */
interface Entry {
  readonly name: string
  readonly path: string
}

/**
 * `marketplace/services/table.ts`, made from the files of the folders below it. Listings have the same order, so known services keep their
 * places and new ones come last.
 */
export function serviceTable(): string {
  const entries = serviceFiles()
  const places = new Map(namesInTable().map((name, place) => [name, place]))
  const placeOf = ({ name }: Entry): number => places.get(name) ?? places.size
  const listed = entries.toSorted((a, b) => placeOf(a) - placeOf(b))
  const imports = [
    ...entries.map(({ name, path }) => [path, `import { ${name} } from '${path}'`] as const),
    ['./service.ts', "import type { ServiceDefinition } from './service.ts'"] as const,
  ].sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    ...imports.map(([, line]) => line),
    '',
    '/** Every service of this release, in the order of listings. `npm run gen` makes this file from the files in the folders beside it. */',
    'export const SERVICE_TABLE: readonly ServiceDefinition[] = [',
    ...listed.map(({ name }) => `  ${name},`),
    ']',
    '',
  ].join('\n')
}

/** Files in the folders of services that export a service, in the order of their paths. A service has the name of its file. */
function serviceFiles(): readonly Entry[] {
  const rooms = readdirSync(join(ROOT, FOLDER), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const paths = rooms.flatMap(({ name: room }) =>
    readdirSync(join(ROOT, FOLDER, room))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `./${room}/${file}`),
  )
  return paths.sort().flatMap((path) => {
    const names = [...readFileSync(join(ROOT, FOLDER, path), 'utf8').matchAll(DEFINITION)].map(([, name]) => name)
    const name = path.slice(path.lastIndexOf('/') + 1, -3).replace(/-(\w)/g, (_, letter) => letter.toUpperCase())
    if (names.length > 0 && !names.includes(name))
      throw new Error(
        `${FOLDER}/${path.slice(2)} exports ${names.join(', ')}; a service has the name of its file: ${name}`,
      )
    return names.length === 0 ? [] : [{ name, path }]
  })
}

/** Services in their present order. */
function namesInTable(): readonly string[] {
  const table = readFileSync(join(ROOT, FOLDER, 'table.ts'), 'utf8')
  return [...table.matchAll(/^ {2}(\w+),$/gm)].map(([, name]) => name as string)
}
