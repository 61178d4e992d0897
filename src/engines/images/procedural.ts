import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { PICTURE_SIDE, type SquarePng } from '../../../marketplace/ports/image-tasks.ts'
import { finishedPng } from './square-png.ts'

const SHAPES = 36
const HUES = 360

/** Equal for equal seeds. It contains no text, because fonts differ between machines. */
export async function proceduralPng({ seed }: { readonly seed: string }): Promise<SquarePng> {
  return finishedPng(sharp(Buffer.from(svgOf(seed))))
}

function svgOf(seed: string): string {
  const next = numbersOf(seed)
  const hue = next(HUES)
  const colour = (): string =>
    `hsl(${(hue + [0, 28, 180, 208][next(4)]! + next(20)) % HUES},${45 + next(45)}%,${25 + next(50)}%)`
  const shapes = Array.from({ length: SHAPES }, () => shapeOf(next, colour))
  const side = PICTURE_SIDE
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}" viewBox="0 0 ${side} ${side}"><defs><linearGradient id="sky" x1="0" y1="0" x2="${next(2)}" y2="1"><stop offset="0" stop-color="${colour()}"/><stop offset="1" stop-color="${colour()}"/></linearGradient></defs><rect width="${side}" height="${side}" fill="url(#sky)"/>${shapes.join('')}</svg>`
}

type Next = (below: number) => number

function shapeOf(next: Next, colour: () => string): string {
  const at = (): number => next(PICTURE_SIDE)
  const look = `fill="${colour()}" fill-opacity="0.${12 + next(50)}"`
  switch (next(4)) {
    case 0:
      return `<circle cx="${at()}" cy="${at()}" r="${20 + next(260)}" ${look}/>`
    case 1:
      return `<polygon points="${at()},${at()} ${at()},${at()} ${at()},${at()}" ${look}/>`
    case 2: {
      const [x, y] = [at(), at()]
      return `<rect x="${x}" y="${y}" width="${40 + next(420)}" height="${20 + next(300)}" transform="rotate(${next(HUES)} ${x} ${y})" ${look}/>`
    }
    default:
      return `<path d="M${at()} ${at()} C${at()} ${at()} ${at()} ${at()} ${at()} ${at()}" fill="none" stroke="${colour()}" stroke-opacity="0.${30 + next(60)}" stroke-width="${2 + next(28)}"/>`
  }
}

/** From hashes of the seed and a counter. */
function numbersOf(seed: string): Next {
  let block = Buffer.alloc(0)
  let used = 0
  let counter = 0
  return (below) => {
    if (used + 4 > block.length) {
      block = createHash('sha256').update(`${counter++}|${seed}`).digest()
      used = 0
    }
    const value = block.readUInt32BE(used)
    used += 4
    return value % below
  }
}
