import type { TextStyle } from './type-setter.ts'

/** A4 in points. */
export const PAGE = { width: 595.28, height: 841.89 }

const MARGIN = 54

/** The main parts are aligned to the left edge, the second column, or the right edge. */
export const GRID = {
  left: MARGIN,
  right: PAGE.width - MARGIN,
  width: PAGE.width - 2 * MARGIN,
  second: 330,
  top: 60,
  /** Below the running head. */
  topNext: 84,
  bottom: PAGE.height - 74,
  footer: PAGE.height - 40,
}

/** One accent colour, and greys. */
export const COLOR = { ink: '#16202A', soft: '#5A6672', faint: '#DCE1E6', accent: '#0E5A6B', tint: '#F2F6F7' }

/** Height of a line of body text. */
export const LINE = 13

/** All text styles. */
export const STYLE = {
  heading: { weight: 'bold', size: 26, color: COLOR.ink },
  number: { weight: 'regular', size: 11, color: COLOR.soft },
  name: { weight: 'bold', size: 10, color: COLOR.ink },
  body: { weight: 'regular', size: 9, color: COLOR.ink },
  soft: { weight: 'regular', size: 9, color: COLOR.soft },
  label: { weight: 'bold', size: 8, color: COLOR.accent },
  figure: { weight: 'regular', size: 9, color: COLOR.ink, tabular: true },
  total: { weight: 'bold', size: 12.5, color: COLOR.ink, tabular: true },
  totalLabel: { weight: 'bold', size: 10, color: COLOR.ink },
  small: { weight: 'regular', size: 7.5, color: COLOR.soft },
} as const satisfies Record<string, TextStyle>
