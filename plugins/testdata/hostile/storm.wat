;; Keeps the host busy: {"do":"WORD"}, of which the first letter counts. Each call
;; of the host can take long, and none is in a loop. {"do":"luck"} answers with what
;; the host gives for chance and for the time.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 512)
  (data (i32.const 16) "{\"name\":\"storm\",\"version\":\"1.0.0\",\"critic\":\"storm\",\"formats\":[\"application/json\"],\"detect\":[],\"items\":[\"/findings/*\"]}")
  (type $two (func (param i32 i32) (result i32)))
  (table funcref (elem $random))
  (global $top (mut i32) (i32.const 4096))
  (func (export "switchyard_abi_v1"))
  (func (export "sy_alloc") (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $top))
    (global.set $top (i32.add (local.get $at) (local.get $size)))
    (local.get $at))
  (func (export "sy_describe") (result i64)
    (i64.or (i64.const 0x1000000000) (i64.const 118)))

  ;; One call of the host, of the kind that a letter says.
  (func $once (param $do i32)
    (if (i32.eq (local.get $do) (i32.const 0x72)) (then ;; r: random bytes
      (drop (call $random (i32.const 65536) (i32.const 16777216)))))
    (if (i32.eq (local.get $do) (i32.const 0x74)) (then ;; t: random bytes through the table
      (drop (call_indirect (type $two) (i32.const 65536) (i32.const 16777216) (i32.const 0)))))
    (if (i32.eq (local.get $do) (i32.const 0x77)) (then ;; w: write two million times nothing
      (drop (call $write (i32.const 1) (i32.const 65536) (i32.const 2000000) (i32.const 8)))))
    (if (i32.eq (local.get $do) (i32.const 0x70)) (then ;; p: poll for many clocks
      (drop (call $poll (i32.const 65536) (i32.const 20000000) (i32.const 100000) (i32.const 8))))))
  (func $tree (param $depth i32) (param $do i32)
    (call $once (local.get $do))
    (call $once (local.get $do))
    (call $once (local.get $do))
    (call $once (local.get $do))
    (if (local.get $depth) (then
      (call $tree (i32.sub (local.get $depth) (i32.const 1)) (local.get $do))
      (call $tree (i32.sub (local.get $depth) (i32.const 1)) (local.get $do)))))

  ;; Makes a letter of every byte.
  (func $letters (param $at i32) (param $end i32)
    (loop $next
      (i32.store8 (local.get $at) (i32.add (i32.const 0x61) (i32.and (i32.load8_u (local.get $at)) (i32.const 15))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end)))))
  (func (export "sy_normalize") (param $report i32) (param $report_len i32) (param $config i32) (param $config_len i32) (result i64)
    (local $do i32)
    (local.set $do (i32.load8_u (i32.add (local.get $config) (i32.const 7))))
    (if (i32.eq (local.get $do) (i32.const 0x65)) (then (call $exit (i32.const 0)))) ;; e: exit
    (if (i32.eq (local.get $do) (i32.const 0x73)) (then ;; s: say its configuration on standard error, a hundred times, and stop
      (i32.store (i32.const 512) (local.get $config))
      (i32.store (i32.const 516) (local.get $config_len))
      (local.set $report_len (i32.const 100))
      (loop $again
        (drop (call $write (i32.const 2) (i32.const 512) (i32.const 1) (i32.const 8)))
        (br_if $again (local.tee $report_len (i32.sub (local.get $report_len) (i32.const 1)))))
      (unreachable)))
    (if (i32.eq (local.get $do) (i32.const 0x6c)) (then ;; l: luck
      (drop (call $random (i32.const 512) (i32.const 16)))
      (drop (call $clock (i32.const 0) (i64.const 1) (i32.const 528)))
      (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 536)))
      (call $letters (i32.const 512) (i32.const 544))
      (i32.store8 (i32.const 511) (i32.const 0x22))
      (i32.store8 (i32.const 544) (i32.const 0x22))
      (return (i64.or (i64.shl (i64.const 511) (i64.const 32)) (i64.const 34)))))
    (call $tree (i32.const 64) (local.get $do))
    (unreachable)))
