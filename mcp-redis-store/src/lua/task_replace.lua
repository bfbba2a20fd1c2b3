-- Replaces a task of the version before. KEYS: task. ARGV: record, version before, version.
if redis.call('HGET', KEYS[1], 'n') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'd', ARGV[1], 'n', ARGV[3])
return 1
