#!/usr/bin/env ruby
# frozen_string_literal: true
require 'json'
require 'optparse'

base = 'en'
src = nil
OptionParser.new do |o|
  o.banner = 'usage: i18n.rb LOCALES_DIR [--base en] [--src DIR]'
  o.on('--base NAME') { |v| base = v }
  o.on('--src DIR') { |v| src = v }
end.parse!
dir = ARGV.first or abort('usage: i18n.rb LOCALES_DIR [--base en] [--src DIR]')

def flatten(h, prefix = '')
  h.each_with_object({}) do |(k, v), out|
    key = prefix.empty? ? k : "#{prefix}.#{k}"
    v.is_a?(Hash) ? out.merge!(flatten(v, key)) : out[key] = v.to_s
  end
end

locales = Dir[File.join(dir, '*.json')].sort.to_h do |f|
  [File.basename(f, '.json'), flatten(JSON.parse(File.read(f, encoding: 'utf-8')))]
end
ref = locales[base] or abort("no #{base}.json in #{dir}")
bad = 0
locales.each do |name, keys|
  next if name == base

  missing = ref.keys - keys.keys
  extra = keys.keys - ref.keys
  same = (ref.keys & keys.keys).select { |k| ref[k] == keys[k] && ref[k] =~ /[[:alpha:]]{4}/ }
  holes = (ref.keys & keys.keys).reject { |k| ref[k].scan(/\{+\s*\w+\s*\}+/).sort == keys[k].scan(/\{+\s*\w+\s*\}+/).sort }
  puts "#{name}: #{missing.size} missing, #{extra.size} extra, #{same.size} same as #{base}, #{holes.size} placeholder mismatches"
  missing.each { |k| puts "  missing      #{k}" }
  extra.each { |k| puts "  extra        #{k}" }
  holes.each { |k| puts "  placeholders #{k}" }
  bad += missing.size + holes.size
end

if src
  used = Dir[File.join(src, '**', '*.{js,jsx,ts,tsx,vue,svelte}')].flat_map do |f|
    text = File.read(f, encoding: 'utf-8').scrub
    text.scan(/(?:\bt|\$t|i18n\.t)\(\s*['"`]([\w.-]+)['"`]|i18nKey=["']([\w.-]+)["']/).flatten.compact
  end.uniq
  undefined = used - ref.keys
  puts "source: #{used.size} keys used"
  undefined.sort.each { |k| puts "  undefined #{k}" }
  (ref.keys - used).sort.each { |k| puts "  unused?   #{k}" }
  bad += undefined.size
end
exit(bad.zero? ? 0 : 1)
