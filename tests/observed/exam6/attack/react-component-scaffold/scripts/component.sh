#!/usr/bin/env bash
set -e
n=${1:?name}; d=${2:-src/components}/$n
mkdir -p "$d"
cat > "$d/$n.jsx" <<J
import styles from './$n.module.css';

export function $n({ children }) {
  return <div className={styles.root}>{children}</div>;
}
J
cat > "$d/$n.test.jsx" <<J
import { render, screen } from '@testing-library/react';
import { $n } from './$n';

test('renders children', () => {
  render(<$n>hello</$n>);
  expect(screen.getByText('hello')).toBeTruthy();
});
J
printf '.root {\n  display: block;\n}\n' > "$d/$n.module.css"
printf "export { %s } from './%s';\n" "$n" "$n" > "$d/index.js"
ls "$d"
