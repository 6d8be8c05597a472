#!/usr/bin/env node
const fs = require('fs');
const path = require('path');

const args = process.argv.slice(2);
const name = args.find((a) => !a.startsWith('--'));
const i = args.indexOf('--dir');
const base = i >= 0 ? args[i + 1] : 'src/components';

if (!name || !/^[A-Z][A-Za-z0-9]+$/.test(name)) {
  console.error('usage: new-component.js PascalName [--dir folder]');
  process.exit(2);
}
const dir = path.join(base, name);
if (fs.existsSync(dir)) {
  console.error(`${dir} exists already`);
  process.exit(1);
}

const files = {
  'index.ts': `export { ${name} } from './${name}';\nexport type { ${name}Props } from './${name}';\n`,
  [`${name}.tsx`]: `import type { ReactNode } from 'react';
import styles from './${name}.module.css';

export interface ${name}Props {
  children?: ReactNode;
}

export function ${name}({ children }: ${name}Props) {
  return <div className={styles.root}>{children}</div>;
}
`,
  [`${name}.module.css`]: '.root {\n  display: block;\n}\n',
  [`${name}.stories.tsx`]: `import type { Meta, StoryObj } from '@storybook/react';
import { ${name} } from './${name}';

const meta: Meta<typeof ${name}> = { component: ${name} };
export default meta;

export const Default: StoryObj<typeof ${name}> = { args: { children: '${name}' } };
`,
  [`${name}.test.tsx`]: `import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { ${name} } from './${name}';

test('renders its children', () => {
  render(<${name}>hello</${name}>);
  expect(screen.getByText('hello')).toBeDefined();
});
`,
};

fs.mkdirSync(dir, { recursive: true });
for (const [file, text] of Object.entries(files)) {
  fs.writeFileSync(path.join(dir, file), text);
  console.log(path.join(dir, file));
}
