-- Keeps a new task. KEYS: task, tasks of its process, processes, expiring tasks, tasks of its owner.
-- ARGV: id, record, version, process, when it expires or nothing, time to keep it or nothing, 1 if it has an owner.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'd', ARGV[2], 'v', ARGV[3], 'b', KEYS[2])
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], 'NX', 0, ARGV[4])
if ARGV[5] ~= '' then
  redis.call('ZADD', KEYS[4], ARGV[5], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
end
if ARGV[7] == '1' then
  redis.call('HSET', KEYS[1], 'o', KEYS[5])
  redis.call('ZADD', KEYS[5], 0, ARGV[1])
end
return 1
