/** What is scraped at one time from all targets. */
export type Scrape = Sample[]
type Sample = { labels: Record<string, string>; value: number }
/** One scrape a minute, the oldest first. */
export type History = Scrape[]
/** What an expression is at each minute: nothing before the history begins. */
type Series = (minute: number) => Sample[]

const NAME = '__name__'
const TOKEN = /\s*("[^"]*"|[\w.]+:?\w*|[=!]~|[<>=!]=|[<>={}()[\],:])/gy
const COMPARE: Record<string, (a: number, b: number) => boolean> = {
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '==': (a, b) => a === b,
}
const MATCH: Record<string, (value: string, wanted: string) => boolean> = {
  '=': (value, wanted) => value === wanted,
  '!=': (value, wanted) => value !== wanted,
  '=~': (value, wanted) => new RegExp(`^(?:${wanted})$`).test(value),
  '!~': (value, wanted) => !new RegExp(`^(?:${wanted})$`).test(value),
}
const AGGREGATE: Record<string, (values: number[]) => number> = {
  max: values => Math.max(...values),
  min: values => Math.min(...values),
  sum: values => values.reduce((sum, value) => sum + value, 0),
  count: values => values.length,
}
/** Over the values of one series within a range. */
const OVER_TIME: Record<string, (values: number[], minutes: number) => number> = {
  min_over_time: values => Math.min(...values),
  count_over_time: values => values.length,
  median: values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number,
  delta: values => (values.at(-1) as number) - (values[0] as number),
  increase: values => (values.at(-1) as number) - (values[0] as number),
  rate: (values, minutes) => ((values.at(-1) as number) - (values[0] as number)) / (60 * minutes),
}

/** Reads what a process exports, as Prometheus does. */
export function samplesIn(text: string): Scrape {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', inner = '', value]) => ({
      labels: {
        [NAME]: name,
        ...Object.fromEntries([...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, k, v]) => [k, v])),
      },
      value: Number(value),
    }),
  )
}

/** Whether an alert fires at the end of the history: its expression has held for that long. */
export function fires(expression: string, forMinutes: number, history: History): boolean {
  const series = parse(expression, history)
  const last = history.length - 1
  return Array.from({ length: forMinutes + 1 }, (_, i) => last - i).every(
    minute => series(minute).length > 0,
  )
}

/** The part of PromQL that `docs/alerts.yaml` uses. @throws on any other */
function parse(expression: string, history: History): Series {
  const { peek, take, expect } = openTokens(expression)
  const whole = either()
  if (peek() !== undefined) throw new Error(`${peek()} not expected in ${expression}`)
  return whole

  function either(): Series {
    let left = exception()
    while (peek() === 'or') {
      take()
      const [one, other] = [left, exception()]
      left = minute => [...one(minute), ...other(minute)]
    }
    return left
  }

  function exception(): Series {
    const left = comparison()
    if (peek() !== 'unless') return left
    take()
    const excepted = comparison()
    return minute => {
      const keys = excepted(minute).map(({ labels }) => key(labels))
      return left(minute).filter(({ labels }) => !keys.includes(key(labels)))
    }
  }

  function comparison(): Series {
    const left = operand()
    const compare = COMPARE[peek() ?? '']
    if (compare === undefined) return left
    take()
    if (/^\d/.test(peek() ?? '')) {
      const limit = Number(take())
      return minute => left(minute).filter(({ value }) => compare(value, limit))
    }
    const right = operand()
    return minute =>
      left(minute).filter(({ labels, value }) =>
        right(minute).some(
          other => key(other.labels) === key(labels) && compare(value, other.value),
        ),
      )
  }

  function operand(): Series {
    const name = take()
    if (name === '(') return closing(either())
    if (name === 'absent') {
      const inner = parenthesized()
      return minute => (inner(minute).length === 0 ? [{ labels: {}, value: 1 }] : [])
    }
    if (name === 'abs') {
      const inner = parenthesized()
      return minute => inner(minute).map(one => ({ ...one, value: Math.abs(one.value) }))
    }
    if (name === 'histogram_quantile') return quantileOfBuckets()
    if (name === 'quantile_over_time') {
      for (const token of ['(', '0.5', ',']) expect(token)
      return closing(overTime('median'))
    }
    if (AGGREGATE[name]) return aggregate(AGGREGATE[name])
    if (OVER_TIME[name]) {
      expect('(')
      return closing(overTime(name))
    }
    return selector(name)
  }

  function closing(series: Series): Series {
    expect(')')
    return series
  }

  function parenthesized(): Series {
    expect('(')
    return closing(either())
  }

  function selector(name: string): Series {
    const matchers: ((labels: Record<string, string>) => boolean)[] = []
    if (peek() === '{') {
      while (take() !== '}' && peek() !== '}') {
        const label = take()
        const match = MATCH[take()] as (typeof MATCH)[string]
        const wanted = take().slice(1, -1)
        matchers.push(labels => match(labels[label] ?? '', wanted))
      }
    }
    return minute =>
      (history[minute] ?? []).filter(
        ({ labels }) => labels[NAME] === name && matchers.every(matches => matches(labels)),
      )
  }

  function aggregate(of: (values: number[]) => number): Series {
    const by: string[] = []
    if (peek() === 'by') {
      take()
      while (take() !== ')') by.push(take())
    }
    return aggregated(of, by, parenthesized())
  }

  function overTime(name: string): Series {
    const inner = either()
    expect('[')
    const [, count, unit] = /^(\d+)([mh])(?::1m)?$/.exec(take()) ?? []
    expect(']')
    return takenOver(Number(count) * (unit === 'h' ? 60 : 1), name, inner)
  }

  function quantileOfBuckets(): Series {
    expect('(')
    const quantile = Number(take())
    expect(',')
    return quantileOf(quantile, closing(either()))
  }
}

function openTokens(expression: string) {
  const tokens = [...expression.matchAll(TOKEN)].map(([, token = '']) => token)
  if (tokens.join('') !== expression.replaceAll(/\s/g, ''))
    throw new Error(`unreadable: ${expression}`)
  const take = () => tokens.shift() as string
  return {
    peek: () => tokens[0],
    take,
    expect(token: string) {
      const found = take()
      if (found !== token) throw new Error(`${found} where ${token} was expected: ${expression}`)
    },
  }
}

function aggregated(of: (values: number[]) => number, by: string[], inner: Series): Series {
  return minute =>
    [...Map.groupBy(inner(minute), ({ labels }) => key(labels, by))].map(([, same]) => ({
      labels: Object.fromEntries(by.map(name => [name, same[0]?.labels[name] ?? ''])),
      value: of(same.map(({ value }) => value)),
    }))
}

function takenOver(minutes: number, name: string, inner: Series): Series {
  const of = OVER_TIME[name] as (typeof OVER_TIME)[string]
  return minute => {
    const points = Array.from({ length: minutes }, (_, i) => inner(minute - minutes + 1 + i))
    return [...Map.groupBy(points.flat(), ({ labels }) => key(labels))].map(([, same]) => ({
      labels: same[0]?.labels ?? {},
      value: of(
        same.map(({ value }) => value),
        minutes,
      ),
    }))
  }
}

/** The upper bound of the bucket: exact enough to tell a second from a millisecond. */
function quantileOf(quantile: number, inner: Series): Series {
  return minute =>
    [...Map.groupBy(inner(minute), ({ labels }) => key({ ...labels, le: '' }))].flatMap(
      ([, same]) => {
        const total = Math.max(...same.map(({ value }) => value))
        const within = same
          .filter(({ value }) => value >= quantile * total)
          .map(({ labels: { le } }) => (le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)))
        return total === 0 ? [] : [{ labels: {}, value: Math.min(...within) }]
      },
    )
}

const key = (labels: Record<string, string>, names = Object.keys(labels)) =>
  JSON.stringify(
    names
      .filter(name => name !== NAME)
      .map(name => [name, labels[name]])
      .sort(),
  )
